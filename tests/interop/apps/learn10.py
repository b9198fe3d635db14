# SPDX-License-Identifier: Apache-2.0
"""A learning switch as an os-ken application for OpenFlow 1.0: no entry asks
for packet-ins, as a miss is one there."""
from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.mac import haddr_to_bin
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_0


class Learn10(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_0.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.where = {}  # address -> port

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def on_packet_in(self, ev):
        msg = ev.msg
        dp = msg.datapath
        o, p = dp.ofproto, dp.ofproto_parser
        eth = packet.Packet(msg.data).get_protocol(ethernet.ethernet)
        self.where[eth.src] = msg.in_port
        to = self.where.get(eth.dst, o.OFPP_FLOOD)
        out = [p.OFPActionOutput(to)]
        if to != o.OFPP_FLOOD:
            match = p.OFPMatch(in_port=msg.in_port,
                               dl_dst=haddr_to_bin(eth.dst),
                               dl_src=haddr_to_bin(eth.src))
            dp.send_msg(p.OFPFlowMod(
                datapath=dp, match=match, cookie=0, command=o.OFPFC_ADD,
                idle_timeout=0, hard_timeout=0, priority=o.OFP_DEFAULT_PRIORITY,
                flags=o.OFPFF_SEND_FLOW_REM, actions=out))
        buffered = msg.buffer_id != 0xffffffff
        dp.send_msg(p.OFPPacketOut(
            datapath=dp, buffer_id=msg.buffer_id, in_port=msg.in_port,
            actions=out, data=None if buffered else msg.data))

    @set_ev_cls(ofp_event.EventOFPPortStatus, MAIN_DISPATCHER)
    def on_port_status(self, ev):
        print("port status: %d %s" % (ev.msg.reason,
                                      ev.msg.desc.name.decode()), flush=True)
