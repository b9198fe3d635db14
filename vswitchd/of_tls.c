/* SPDX-License-Identifier: Apache-2.0
 *
 * TLS of OpenFlow connections: TLS 1.2 at least, and both ends show
 * certificates that the configured one signed.  Files are read when they are
 * configured, and once at start.  Control thread.
 */
#include "of_int.h"

#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

#define ALERT_OURS 0x100u /* beside its number: we sent it */

/* A key with a pass phrase is none: there is nobody to ask. */
static int
no_phrase(char *buf, int size, int rwflag, void *arg)
{
    (void) buf;
    (void) size;
    (void) rwflag;
    (void) arg;
    return 0;
}

static void
last_error(char *text, size_t size)
{
    unsigned long e = ERR_peek_last_error();
    const char *reason = e ? ERR_reason_error_string(e) : NULL;

    snprintf(text, size, "%s", reason ? reason : "unknown error");
    if (e && ERR_GET_LIB(e) == ERR_LIB_SYS)
        snprintf(text, size, "%s", strerror(ERR_GET_REASON(e)));
    ERR_clear_error();
}

static int
refuse(const char *path, const char *member, const char *file, struct err *err)
{
    char where[sizeof(err->path)], reason[128];

    snprintf(where, sizeof(where), "%s/ssl/%s", path, member);
    last_error(reason, sizeof(reason));
    return err_set(err, EINVAL, where, file,
                   "a PEM file that the daemon can read",
                   "%s %s cannot be used: %s", member, file, reason);
}

static int
load(SSL_CTX *ctx, const struct conf_ssl *c, const char *path, struct err *err)
{
    if (SSL_CTX_use_certificate_chain_file(ctx, c->certificate) != 1)
        return refuse(path, "certificate", c->certificate, err);
    if (SSL_CTX_use_PrivateKey_file(ctx, c->private_key, SSL_FILETYPE_PEM) !=
            1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return refuse(path, "private_key", c->private_key, err);
    if (SSL_CTX_load_verify_file(ctx, c->ca_certificate) != 1)
        return refuse(path, "ca_certificate", c->ca_certificate, err);
    return 0;
}

/* Keeps an alert with its connection, for ofd_tls_why(). */
static void
note_alert(const SSL *ssl, int where, int what)
{
    uintptr_t alert = (uintptr_t) what & 0xff;

    if (!(where & SSL_CB_ALERT) || alert == SSL3_AD_CLOSE_NOTIFY)
        return;
    if (where & SSL_CB_WRITE)
        alert |= ALERT_OURS;
    SSL_set_app_data((SSL *) (uintptr_t) ssl, (void *) alert);
}

int
ofd_tls_create(const struct conf_ssl *c, const char *path, SSL_CTX **out,
               struct err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    int error;

    ERR_clear_error();
    if (!ctx || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(ctx);
        return err_sys(err, ENOMEM, "TLS");
    }
    SSL_CTX_set_default_passwd_cb(ctx, no_phrase);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       NULL);
    SSL_CTX_set_info_callback(ctx, note_alert);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
    error = load(ctx, c, path, err);
    if (error) {
        SSL_CTX_free(ctx);
        return error;
    }
    *out = ctx;
    return 0;
}

/* libevent says of a failure of TLS that it is one; what it was, the alert
 * says, and an alert is not sent to who does not begin a handshake at all. */
void
ofd_tls_why(struct bufferevent *bev, char text[OF_MAX_TEXT])
{
    SSL *ssl = bufferevent_openssl_get_ssl(bev);
    long verdict = ssl ? SSL_get_verify_result(ssl) : X509_V_OK;
    uintptr_t alert = ssl ? (uintptr_t) SSL_get_app_data(ssl) : 0;
    unsigned long e = bufferevent_get_openssl_error(bev), more;
    int number = (int) (alert & 0xff);

    text[0] = '\0';
    while ((more = bufferevent_get_openssl_error(bev)))
        e = more; /* the first */
    if (verdict != X509_V_OK)
        snprintf(text, OF_MAX_TEXT, "TLS: the peer's certificate: %s",
                 X509_verify_cert_error_string(verdict));
    else if (alert == (ALERT_OURS | TLS13_AD_CERTIFICATE_REQUIRED))
        snprintf(text, OF_MAX_TEXT, "TLS: the peer showed no certificate");
    else if (alert)
        snprintf(text, OF_MAX_TEXT, "TLS: the %s: %s",
                 alert & ALERT_OURS ? "peer's handshake" : "peer refuses ours",
                 SSL_alert_desc_string_long(number));
    else if (e == SSL_ERROR_SSL && ssl && !SSL_is_init_finished(ssl))
        snprintf(text, OF_MAX_TEXT, "TLS: what came is no handshake");
}
