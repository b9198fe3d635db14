# SPDX-License-Identifier: Apache-2.0
"""os-ken's switch tester, but for how it sends at a rate: by what is due, so
that what a busy machine let it miss is made up for.  (The tester counts its
pauses of ten milliseconds, however long they became.)"""
import time

from os_ken.lib import hub
from os_ken.tests.switch import tester

PAUSE = tester.CONTINUOUS_THREAD_INTVL
AT_ONCE = 200  # frames, then others get their turn


class PacedTester(tester.OfTester):
    def _is_sending(self):
        return self.ingress_event is not None and \
            not self.ingress_event._cond  # pylint: disable=protected-access

    def _send_packet_thread(self, arg):
        per_second = arg["packet_counter_inc"] / PAUSE
        begin, sent = time.monotonic(), 0
        while self._is_sending():
            due = int((time.monotonic() - begin) * per_second) - sent
            for _ in range(min(due, AT_ONCE)):
                data = arg["packet_binary"]
                if arg["randomize"]:
                    # As the tester has it: an expression of its library.
                    packet = eval("/".join(arg["packet_text"]),
                                  vars(tester))  # pylint: disable=eval-used
                    packet.serialize()
                    data = packet.data
                self.tester_sw.send_packet_out(data)
                sent += 1
            hub.sleep(PAUSE)
