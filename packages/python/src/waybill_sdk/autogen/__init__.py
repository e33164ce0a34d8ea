"""AutoGen: its agents and teams as capabilities, and remote agents as members of its teams.

Needs `autogen-agentchat` and `autogen-core`, which the application installs."""

from .core import remote_core_agent
from .remote_agent import RemoteAgent
from .serve import serve, user_input

__all__ = ["RemoteAgent", "remote_core_agent", "serve", "user_input"]
