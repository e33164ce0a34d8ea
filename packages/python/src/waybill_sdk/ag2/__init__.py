"""AG2: its agents as capabilities, and remote agents as tools and on AG2's network.

Install it with `pip install "waybill-sdk[ag2]"`."""

from ..adapter.extra import require_extra

# Before the framework is imported: otherwise the error would be about some missing name.
require_extra("ag2")

from .events import RemoteDelta, RemoteProgress, RemoteQuestion, RemoteUsage  # noqa: E402
from .network import NetworkProxy  # noqa: E402
from .received import received_in  # noqa: E402
from .serve import ServedRun, serve  # noqa: E402
from .tool import RemoteTool  # noqa: E402

__all__ = [
    "NetworkProxy",
    "RemoteDelta",
    "RemoteProgress",
    "RemoteQuestion",
    "RemoteTool",
    "RemoteUsage",
    "ServedRun",
    "received_in",
    "serve",
]
