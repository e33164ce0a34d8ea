import sys

from waybill_sdk import WaybillError
from waybill_sdk.blocking import Agent, connect

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7411"
with connect(url) as hub:
    worker = Agent("worker", hub=hub)
    worker.serve("double", lambda work: 2 * work.input)
    worker.serve("divide", lambda work: work.input[0] / work.input[1])
    with worker, Agent("asker", hub=hub) as asker:
        print(asker.hand_off("double", input=21).result().output)
        try:
            asker.hand_off("divide", to="worker", input=[1, 0]).result()
        except WaybillError as error:
            print(error.status, error.message, error.retryable)
