"""AutoGen: its agents and teams as capabilities, and remote agents as members of its teams.

Install it with `pip install "waybill-sdk[autogen]"`."""

from ..adapter.extra import require_extra

# Before the framework is imported: otherwise the error would be about some missing name.
require_extra("autogen")

from .core import remote_core_agent  # noqa: E402
from .remote_agent import RemoteAgent, received_in  # noqa: E402
from .serve import serve, user_input  # noqa: E402

__all__ = ["RemoteAgent", "received_in", "remote_core_agent", "serve", "user_input"]
