import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.models import ModelFamily, ModelInfo
from autogen_ext.models.replay import ReplayChatCompletionClient

from waybill_sdk import Agent, Work, connect
from waybill_sdk.autogen import RemoteAgent, serve


def assistant(name: str, says: str) -> AssistantAgent:
    # Stands in for a model, so that this runs anywhere.
    info = ModelInfo(
        vision=False,
        function_calling=False,
        json_output=False,
        family=ModelFamily.UNKNOWN,
        structured_output=False,
    )
    return AssistantAgent(name, model_client=ReplayChatCompletionClient([says], model_info=info))


def readers(work: Work) -> RoundRobinGroupChat:
    return RoundRobinGroupChat([assistant("reader", "The tide comes twice a day.")], max_turns=1)


async def main(url: str = "http://127.0.0.1:7411") -> None:
    async with await connect(url) as hub:
        # #region serve
        library = Agent("library", hub=hub)
        serve(library, "research", readers)
        await library.start()
        # #endregion

        planner = assistant("planner", "When does the tide come?")
        # #region call
        newsroom = Agent("newsroom", hub=hub)
        researcher = RemoteAgent("researcher", agent=newsroom, capability="research")
        team = RoundRobinGroupChat([planner, researcher], max_turns=2)
        result = await team.run(task="Write about the sea.")
        # #endregion
        print(result.messages[-1].to_text())
        await asyncio.gather(library.stop(), newsroom.stop())


asyncio.run(main(*sys.argv[1:]))
