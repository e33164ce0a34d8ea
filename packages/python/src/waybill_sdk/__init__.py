"""Hand work from one agent to another, whatever framework each is built on: signed, confirmed by the
recipient itself, bound to a deadline, and never silently lost."""

from .adapter.session_store import SessionBudget, SessionStore
from .agent import Agent
from .delegating.ending import DeltaEvent, HandoffResult, ProgressEvent, QuestionEvent, Receipt
from .delegating.fan_out import Settled
from .delegating.handle import HandoffHandle
from .link.hub import Hub, connect
from .link.outgoing import Unconfirmed
from .protocol.error import WaybillError
from .protocol.ids import handoff_id_of, new_id
from .protocol.key import PrivateKey, generate_key, load_key
from .protocol.possession import proven_key, proven_recovery_key
from .protocol.recovery import sign_recovery
from .protocol.trust import TrustPolicy
from .protocol.usage import Usage, UsageTotal
from .serving.outcome import Finished, Paused
from .serving.session import WorkSession
from .serving.work import BlockingWork, Resume, Work, current_work

__all__ = [
    "Agent",
    "BlockingWork",
    "DeltaEvent",
    "Finished",
    "HandoffHandle",
    "HandoffResult",
    "Hub",
    "Paused",
    "PrivateKey",
    "ProgressEvent",
    "QuestionEvent",
    "Receipt",
    "Resume",
    "SessionBudget",
    "SessionStore",
    "Settled",
    "TrustPolicy",
    "Unconfirmed",
    "Usage",
    "UsageTotal",
    "WaybillError",
    "Work",
    "WorkSession",
    "connect",
    "current_work",
    "generate_key",
    "handoff_id_of",
    "load_key",
    "new_id",
    "proven_key",
    "proven_recovery_key",
    "sign_recovery",
]
