/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any frame through the completion of partial checksums.  Nothing
 * outside of the frame is touched, no more than two checksums change, and
 * another run changes nothing.
 */
#include "netdev/csum.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* Of exactly n octets, so that a sanitizer sees what goes past. */
    uint8_t *frame = malloc(n ? n : 1), *again = malloc(n ? n : 1);
    unsigned n_changed = 0;

    if (!frame || !again)
        abort();
    if (n)
        memcpy(frame, data, n);
    csum_complete(frame, n);
    for (size_t i = 0; i < n; i++)
        n_changed += frame[i] != data[i];
    if (n)
        memcpy(again, frame, n);
    csum_complete(again, n);
    if (n_changed > 4 || (n && memcmp(again, frame, n) != 0))
        abort();
    free(again);
    free(frame);
    return 0;
}
