/* SPDX-License-Identifier: Apache-2.0
 *
 * The words behind a verb: arguments, and keys with values, "key value" or
 * "key=value" alike, in any order.  They become the params of a call.
 * Whatever cannot be is refused here, with the word and what is allowed,
 * before the daemon is asked.
 */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_KEYS 32

/* The key that a word names, up to '=' if there is one. */
static const struct ctl_key *
find_key(const struct ctl_key *keys, const char *word)
{
    size_t n = strcspn(word, "=");

    for (; keys && keys->name; keys++)
        if (strlen(keys->name) == n && !strncmp(keys->name, word, n))
            return keys;
    return NULL;
}

static int
refuse_key(const struct ctl_verb *verb, const char *word, struct err *err)
{
    const char *names[MAX_KEYS + 1], *guess;
    char allowed[sizeof(err->allowed)], name[64];
    size_t n = 0;

    for (const struct ctl_key *k = verb->keys; k && k->name && n < MAX_KEYS;
         k++)
        names[n++] = k->name;
    names[n] = NULL;
    if (!n)
        return err_set(err, EINVAL, NULL, word, "no more words",
                       "'%.60s' is one word too many", word);
    ctl_join_words(names, allowed, sizeof(allowed));
    snprintf(name, sizeof(name), "%.*s", (int) strcspn(word, "="), word);
    guess = rpc_suggest(name, names);
    return err_set(err, EINVAL, NULL, word, allowed,
                   "'%s' is not known here%s%s%s%s", name,
                   guess ? "; did you mean '" : "", guess ? guess : "",
                   guess ? "'? Allowed: " : "; allowed: ", allowed);
}

/* A word that may go on a list of pairs: has a colon and is no key. */
static bool
is_pair(const struct ctl_key *keys, const char *word)
{
    return word && strchr(word, ':') && !find_key(keys, word);
}

/* Takes the key at *words with its value or values; *words moves on. */
static int
take_key(const struct ctl_verb *verb, char ***words,
         struct json_object *params, struct err *err)
{
    char *word = *(*words)++, *equals = strchr(word, '=');
    const struct ctl_key *key = find_key(verb->keys, word);
    int error;

    if (!key)
        for (key = verb->keys; key && key->name; key++)
            if (key->bare && is_pair(verb->keys, word)) {
                --*words;
                equals = NULL;
                break;
            }
    if (!key || !key->name)
        return refuse_key(verb, word, err);
    if (key->kind == CTL_NOISE && !equals)
        return 0;
    if (key->kind == CTL_FLAG && !equals) {
        ctl_take_flag(key, params);
        return 0;
    }
    if (!equals && !**words)
        return err_set(err, EINVAL, NULL, word, NULL, "'%s' needs a value: %s",
                       key->name, key->doc);
    error =
        ctl_take_value(key, equals ? equals + 1 : *(*words)++, params, err);
    while (!error && ctl_takes_pairs(key) && is_pair(verb->keys, **words))
        error = ctl_take_value(key, *(*words)++, params, err);
    return error;
}

/* Gives a word to the first argument that has none yet; false: all have. */
static bool
take_argument(struct ctl *ctl, const char *word, struct json_object *params)
{
    const struct ctl_verb *verb = ctl->verb;

    for (int i = 0; i < CTL_MAX_WORDS && verb->args[i].label; i++) {
        if (ctl->words[i])
            continue;
        ctl->words[i] = word;
        if (verb->args[i].member)
            json_object_object_add(params, verb->args[i].member,
                                   json_object_new_string(word));
        return true;
    }
    return false;
}

/* Arguments that have to be there come first, even if one is called as a key
 * is; one that may be left out is not. */
static char **
take_leading(struct ctl *ctl, char **words, struct json_object *params)
{
    const struct ctl_verb *verb = ctl->verb;

    for (int i = 0; i < CTL_MAX_WORDS && verb->args[i].label && *words; i++) {
        if (verb->args[i].optional && find_key(verb->keys, *words))
            break;
        take_argument(ctl, *words++, params);
    }
    return words;
}

static bool
is_bare_pair(const struct ctl_verb *verb, const char *word)
{
    for (const struct ctl_key *k = verb->keys; k && k->name; k++)
        if (k->bare && is_pair(verb->keys, word))
            return true;
    return false;
}

/* A key that has to be given is no part of an object of its own. */
static bool
is_given(const struct ctl_key *key, struct json_object *params)
{
    return json_object_object_get_ex(params, key->path, NULL);
}

static int
parse(struct ctl *ctl, char **words, bool leading, struct json_object *params,
      struct err *err)
{
    const struct ctl_verb *verb = ctl->verb;
    int error = 0;

    memset(ctl->words, 0, sizeof(ctl->words));
    if (leading)
        words = take_leading(ctl, words, params);
    while (!error && *words) {
        if (!find_key(verb->keys, *words) && !is_bare_pair(verb, *words) &&
            take_argument(ctl, *words, params))
            words++;
        else
            error = take_key(verb, &words, params, err);
    }
    for (int i = 0; i < CTL_MAX_WORDS && verb->args[i].label && !error; i++)
        if (!ctl->words[i] && !verb->args[i].optional)
            error = err_set(err, EINVAL, NULL, NULL, verb->args[i].label,
                            "%s is missing", verb->args[i].label);
    for (const struct ctl_key *k = verb->keys; k && k->name && !error; k++)
        if (k->required && !is_given(k, params))
            error = err_set(err, EINVAL, NULL, NULL, k->name,
                            "'%s' is missing: %s", k->name, k->doc);
    return error;
}

/* "start eth1 action drop" and "start action drop eth1" are the same.  Where
 * both could be meant, as by a port called "action", arguments come first. */
int
ctl_parse_words(struct ctl *ctl, char **words, struct json_object *params,
                struct err *err)
{
    const struct ctl_verb *verb = ctl->verb;
    bool key_first =
        *words && (find_key(verb->keys, *words) || is_bare_pair(verb, *words));
    struct err why;

    for (int i = key_first ? 0 : 1; i < 2; i++) {
        bool leading = i == 0;
        struct json_object *taken = json_object_new_object();
        int error;

        err_clear(&why);
        error = parse(ctl, words, leading, taken, &why);
        if (!error) {
            json_object_object_foreach (taken, name, value)
                json_object_object_add(params, name, json_object_get(value));
        }
        json_object_put(taken);
        if (!error)
            return 0;
    }
    *err = why;
    return EINVAL;
}
