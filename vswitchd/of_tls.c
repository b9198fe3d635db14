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

void
ofd_tls_why(struct bufferevent *bev, char text[OF_MAX_TEXT])
{
    SSL *ssl = bufferevent_openssl_get_ssl(bev);
    long verdict = ssl ? SSL_get_verify_result(ssl) : X509_V_OK;
    unsigned long e = bufferevent_get_openssl_error(bev), more;
    const char *reason;

    while ((more = bufferevent_get_openssl_error(bev)))
        e = more;
    reason = e ? ERR_reason_error_string(e) : NULL;
    if (verdict != X509_V_OK)
        snprintf(text, OF_MAX_TEXT, "TLS: the peer's certificate: %s",
                 X509_verify_cert_error_string(verdict));
    else if (reason)
        snprintf(text, OF_MAX_TEXT, "TLS: %s", reason);
    else
        text[0] = '\0';
}
