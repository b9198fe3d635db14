# SPDX-License-Identifier: Apache-2.0
"""A learning switch as an os-ken application for OpenFlow 1.3: a table-miss
entry, packet-ins (buffered or not), flow-mods that name the buffer."""
from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import (CONFIG_DISPATCHER, MAIN_DISPATCHER,
                                       set_ev_cls)
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class Learn13(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.where = {}  # address -> port

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def on_features(self, ev):
        dp = ev.msg.datapath
        o, p = dp.ofproto, dp.ofproto_parser
        out = p.OFPActionOutput(o.OFPP_CONTROLLER, 64)
        inst = p.OFPInstructionActions(o.OFPIT_APPLY_ACTIONS, [out])
        dp.send_msg(p.OFPFlowMod(datapath=dp, priority=0, match=p.OFPMatch(),
                                 instructions=[inst]))
        print("features: %d tables, %d buffers" % (
            ev.msg.n_tables, ev.msg.n_buffers), flush=True)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def on_packet_in(self, ev):
        msg = ev.msg
        dp = msg.datapath
        o, p = dp.ofproto, dp.ofproto_parser
        port = msg.match["in_port"]
        eth = packet.Packet(msg.data).get_protocol(ethernet.ethernet)
        self.where[eth.src] = port
        to = self.where.get(eth.dst, o.OFPP_FLOOD)
        out = [p.OFPActionOutput(to)]
        buffered = msg.buffer_id != o.OFP_NO_BUFFER
        if to != o.OFPP_FLOOD:
            match = p.OFPMatch(in_port=port, eth_dst=eth.dst, eth_src=eth.src)
            inst = p.OFPInstructionActions(o.OFPIT_APPLY_ACTIONS, out)
            dp.send_msg(p.OFPFlowMod(
                datapath=dp, buffer_id=msg.buffer_id, priority=1, match=match,
                instructions=[inst]))
            if buffered:
                return
        dp.send_msg(p.OFPPacketOut(
            datapath=dp, buffer_id=msg.buffer_id, in_port=port, actions=out,
            data=None if buffered else msg.data))
