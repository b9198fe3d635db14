/* SPDX-License-Identifier: Apache-2.0
 *
 * For the few places where what gcc makes of an expression was measured and
 * found wanting.
 */
#ifndef BASE_OPAQUE_H
#define BASE_OPAQUE_H

/* Has the compiler take a variable as it is: it makes no branch of how the
 * value came about, and does not work it out again. */
#define OPAQUE(variable) __asm__("" : "+r"(variable))

#endif
