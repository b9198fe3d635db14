/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the protocol that a connection itself knows: types of messages.
 * Errors, and what messages carry, are the codec's (lib/ofp).  Control thread.
 */
#ifndef OFCONN_PROTO_H
#define OFCONN_PROTO_H

#define OFP10 1
#define OFP13 4

#define OFP_HEADER_BYTES  8
#define OFP_MAX_MSG_BYTES 65535u

/* The same in 1.0 and 1.3. */
#define T_HELLO              0
#define T_ERROR              1
#define T_ECHO_REQUEST       2
#define T_ECHO_REPLY         3
#define T_EXPERIMENTER       4
#define T_FEATURES_REQUEST   5
#define T_FEATURES_REPLY     6
#define T_GET_CONFIG_REQUEST 7
#define T_GET_CONFIG_REPLY   8
#define T_SET_CONFIG         9
#define T_PACKET_OUT         13
#define T_FLOW_MOD           14

#define T13_GROUP_MOD                15
#define T13_PORT_MOD                 16
#define T13_TABLE_MOD                17
#define T13_MULTIPART_REQUEST        18
#define T13_MULTIPART_REPLY          19
#define T13_BARRIER_REQUEST          20
#define T13_BARRIER_REPLY            21
#define T13_QUEUE_GET_CONFIG_REQUEST 22
#define T13_ROLE_REQUEST             24
#define T13_ROLE_REPLY               25
#define T13_GET_ASYNC_REQUEST        26
#define T13_GET_ASYNC_REPLY          27
#define T13_SET_ASYNC                28
#define T13_METER_MOD                29

#define T10_PORT_MOD                 15
#define T10_STATS_REQUEST            16
#define T10_STATS_REPLY              17
#define T10_BARRIER_REQUEST          18
#define T10_BARRIER_REPLY            19
#define T10_QUEUE_GET_CONFIG_REQUEST 20

/* Bundles. */
#define ONF_EXPERIMENTER 0x4f4e4600u
#define ONF_BUNDLE_CTRL  2300
#define ONF_BUNDLE_ADD   2301
#define BUNDLE_ATOMIC    1
#define BUNDLE_ORDERED   2

#define MP_MORE           1 /* flag of requests and replies */
#define MP_TABLE_FEATURES 12

#endif
