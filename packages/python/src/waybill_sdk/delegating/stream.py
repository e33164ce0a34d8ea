"""The events of a handoff, in order, for a reader; beyond the capacity the oldest are dropped."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Stream(Generic[Item]):
    def __init__(self, kept: int) -> None:
        self._items: deque[Item] = deque(maxlen=kept)
        self._news = asyncio.Event()
        self._is_ended = False

    def push(self, item: Item) -> None:
        self._items.append(item)
        self._news.set()

    def put_back(self, item: Item) -> None:
        """For a reader that could not process an item: it is the next one again."""
        self._items.appendleft(item)
        self._news.set()

    def drop(self, is_dropped: Callable[[Item], bool]) -> None:
        kept = [each for each in self._items if not is_dropped(each)]
        self._items.clear()
        self._items.extend(kept)

    def end(self) -> None:
        self._is_ended = True
        self._news.set()

    def __aiter__(self) -> Stream[Item]:
        return self

    async def __anext__(self) -> Item:
        while not self._items:
            if self._is_ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._items.popleft()
