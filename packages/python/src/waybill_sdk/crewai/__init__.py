"""CrewAI: its crews and flows as capabilities, and remote agents as members and tools of its crews.

Needs `crewai`, which the application installs."""

from .member import RemoteMember
from .serve import schema_of, serve
from .tool import RemoteTool

__all__ = ["RemoteMember", "RemoteTool", "schema_of", "serve"]
