"""CrewAI: its crews and flows as capabilities, and remote agents as members and tools of its crews.

Install it with `pip install "waybill-sdk[crewai]"`."""

from ..adapter.extra import require_extra

# Before the framework is imported: otherwise the error would be about some missing name.
require_extra("crewai")

from . import context as context  # noqa: E402
from .member import RemoteMember  # noqa: E402
from .serve import schema_of, serve  # noqa: E402
from .tool import RemoteTool  # noqa: E402

__all__ = ["RemoteMember", "RemoteTool", "schema_of", "serve"]
