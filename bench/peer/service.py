"""Sessions, messages and an event stream, as a FastAPI service would have them.

It does what Deskhand does for the same requests: the bearer token is looked up by its SHA-256, the
right in the session is part of the query, a message and its event are one transaction that also
takes the event's number, the queue is bounded, and streams go on from the number a client last saw.

It is written to be quick: uvloop and httptools, no access log, SQLite in WAL mode with pooled
connections, one writer at a time (several would only wait for each other's lock), and events that are
made into JSON once for all clients. It is one process, since its streams live in memory.

    service.py DATABASE-FILE PORT TOKEN
"""

import asyncio
import datetime
import hashlib
import sys
import uuid
from collections import defaultdict
from contextlib import asynccontextmanager
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException, Query, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ForeignKey, Index, and_, event, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

DATABASE, PORT, TOKEN = sys.argv[1], int(sys.argv[2]), sys.argv[3]
QUEUE_LENGTH = 1_000
PAGE = 256


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    name: Mapped[str]
    active: Mapped[bool] = mapped_column(default=True)


class Token(Base):
    __tablename__ = "tokens"
    hash: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id"))
    scope: Mapped[str]


class Session(Base):
    __tablename__ = "sessions"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    owner_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id"))
    title: Mapped[str]
    model: Mapped[str]
    phase: Mapped[str]
    last_seq: Mapped[int]
    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
    __table_args__ = (Index("sessions_by_owner", "owner_id", "created_at"),)


class SessionRight(Base):
    __tablename__ = "session_rights"
    session_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("sessions.id"), primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id"), primary_key=True)
    right_name: Mapped[str]


class Message(Base):
    __tablename__ = "messages"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    session_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("sessions.id"))
    seq: Mapped[int]
    role: Mapped[str]
    content: Mapped[str]
    author_id: Mapped[uuid.UUID]
    delivery: Mapped[str]
    created_at: Mapped[datetime.datetime]
    taken_at: Mapped[datetime.datetime | None]


Index("messages_by_session", Message.session_id, Message.seq)
Index("messages_waiting", Message.session_id, Message.seq, sqlite_where=Message.taken_at.is_(None))


class Event(Base):
    __tablename__ = "events"
    session_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("sessions.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    at: Mapped[datetime.datetime]
    data: Mapped[str]


class CreateSession(BaseModel):
    title: str = Field("", max_length=200)
    model: str = "scripted/demo"


class SendMessage(BaseModel):
    content: str = Field(min_length=1, max_length=262_144)
    delivery: str = Field("queue", pattern="^(queue|steer|interrupt)$")


class SessionView(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: uuid.UUID
    owner_id: uuid.UUID
    title: str
    model: str
    phase: str
    last_seq: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


class SessionsPage(BaseModel):
    sessions: list[SessionView]
    next: uuid.UUID | None


class MessageView(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: uuid.UUID
    session_id: uuid.UUID
    role: str
    content: str
    author_id: uuid.UUID
    delivery: str
    created_at: datetime.datetime


class MessagesPage(BaseModel):
    messages: list[MessageView]
    next: uuid.UUID | None


class EventView(BaseModel):
    seq: int
    type: str
    at: datetime.datetime
    data: MessageView


engine = create_async_engine(f"sqlite+aiosqlite:///{DATABASE}", pool_size=8)
open_database = async_sessionmaker(engine, expire_on_commit=False)
writing = asyncio.Lock()
followers: dict[uuid.UUID, set[asyncio.Queue]] = defaultdict(set)


@event.listens_for(engine.sync_engine, "connect")
def configure(connection, _record):
    cursor = connection.cursor()
    for pragma in ("journal_mode=wal", "synchronous=normal", "foreign_keys=on", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@asynccontextmanager
async def lifespan(_app: FastAPI):
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        user = uuid.uuid4()
        await connection.execute(insert(User).values(id=user, name="admin", active=True))
        await connection.execute(insert(Token).values(hash=hash_of(TOKEN), user_id=user, scope="admin"))
    yield


# Deskhand does not insist on a content type either.
app = FastAPI(lifespan=lifespan, strict_content_type=False)


async def database():
    async with open_database() as session:
        yield session


Database = Annotated[AsyncSession, Depends(database)]


async def user_of(header: str | None, db: AsyncSession) -> uuid.UUID | None:
    scheme, _, token = (header or "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    query = select(Token.user_id).join(User, User.id == Token.user_id)
    return await db.scalar(query.where(Token.hash == hash_of(token), User.active))


async def caller(db: Database, authorization: Annotated[str | None, Header()] = None) -> uuid.UUID:
    user = await user_of(authorization, db)
    if user is None:
        raise HTTPException(401, "nobody is signed in with this")
    return user


Caller = Annotated[uuid.UUID, Depends(caller)]


async def right_in(db: AsyncSession, user: uuid.UUID, session: uuid.UUID) -> str | None:
    query = (
        select(Session.owner_id, SessionRight.right_name)
        .outerjoin(
            SessionRight,
            and_(SessionRight.session_id == Session.id, SessionRight.user_id == user),
        )
        .where(Session.id == session, or_(Session.owner_id == user, SessionRight.user_id == user))
    )
    row = (await db.execute(query)).first()
    if row is None:
        return None
    return "owner" if row.owner_id == user else row.right_name


async def require(db: AsyncSession, user: uuid.UUID, session: uuid.UUID, rights: set[str]) -> None:
    right = await right_in(db, user, session)
    if right is None:
        raise HTTPException(404, f"there is no session {session}")
    if right not in rights:
        raise HTTPException(403, f"this needs one of the rights {rights}")


SEE = {"view", "suggest", "drive", "owner"}
SEND = {"suggest", "drive", "owner"}


@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "healthy"}


@app.post("/api/sessions", status_code=201)
async def create_session(body: CreateSession, user: Caller, db: Database) -> SessionView:
    at = now()
    session = Session(
        id=uuid.uuid4(),
        owner_id=user,
        title=body.title,
        model=body.model,
        phase="initializing",
        last_seq=1,
        created_at=at,
        updated_at=at,
    )
    # The token was looked up in a transaction that reads.
    await db.rollback()
    async with writing:
        db.add(session)
        await db.flush()
        first = {"session_id": session.id, "seq": 1, "kind": "status", "at": at, "data": "{}"}
        await db.execute(insert(Event).values(first))
        await db.commit()
    return SessionView.model_validate(session)


@app.get("/api/sessions")
async def list_sessions(
    user: Caller, db: Database, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> SessionsPage:
    query = select(Session).where(Session.owner_id == user)
    rows = (await db.scalars(query.order_by(Session.created_at.desc()).limit(limit + 1))).all()
    shown = rows[:limit]
    following = shown[-1].id if len(rows) > limit else None
    return SessionsPage(sessions=[SessionView.model_validate(row) for row in shown], next=following)


@app.post("/api/sessions/{session}/messages", status_code=202)
async def send_message(
    session: uuid.UUID, body: SendMessage, user: Caller, db: Database
) -> MessageView:
    await require(db, user, session, SEND)
    await db.rollback()
    at = now()
    async with writing:
        query = update(Session).where(Session.id == session)
        query = query.values(last_seq=Session.last_seq + 1, updated_at=at)
        seq = await db.scalar(query.returning(Session.last_seq))
        waiting = select(func.count()).select_from(Message)
        waiting = waiting.where(Message.session_id == session, Message.taken_at.is_(None))
        if (await db.scalar(waiting)) >= QUEUE_LENGTH:
            raise HTTPException(429, "too many messages wait already")
        message = MessageView(
            id=uuid.uuid4(),
            session_id=session,
            role="user",
            content=body.content,
            author_id=user,
            delivery=body.delivery,
            created_at=at,
        )
        await db.execute(insert(Message).values(**message.model_dump(), seq=seq))
        told = EventView(seq=seq, type="message", at=at, data=message)
        data = message.model_dump_json()
        row = {"session_id": session, "seq": seq, "kind": "message", "at": at, "data": data}
        await db.execute(insert(Event).values(row))
        await db.commit()
        publish(session, seq, told.model_dump_json())
    return message


@app.get("/api/sessions/{session}/messages")
async def list_messages(
    session: uuid.UUID,
    user: Caller,
    db: Database,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
) -> MessagesPage:
    await require(db, user, session, SEE)
    query = select(Message).where(Message.session_id == session).order_by(Message.seq)
    rows = (await db.scalars(query.limit(limit + 1))).all()
    shown = rows[:limit]
    following = shown[-1].id if len(rows) > limit else None
    return MessagesPage(messages=[MessageView.model_validate(row) for row in shown], next=following)


def publish(session: uuid.UUID, seq: int, text: str) -> None:
    for queue in followers.get(session, ()):
        queue.put_nowait((seq, text))


@app.websocket("/api/sessions/{session}/stream")
async def follow(socket: WebSocket, session: uuid.UUID, after: int = 0) -> None:
    async with open_database() as db:
        user = await user_of(socket.headers.get("authorization"), db)
        if user is None or await right_in(db, user, session) is None:
            await socket.close(1008)
            return
    await socket.accept()
    queue: asyncio.Queue = asyncio.Queue()
    followers[session].add(queue)
    leaving = asyncio.create_task(wait_for_leave(socket))
    try:
        after = await send_past(socket, session, after)
        while not leaving.done():
            seq, text = await queue.get()
            if seq > after:
                await socket.send_text(text)
    except WebSocketDisconnect:
        pass
    finally:
        followers[session].discard(queue)
        leaving.cancel()


async def wait_for_leave(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def send_past(socket: WebSocket, session: uuid.UUID, after: int) -> int:
    """Sends what is in the log after `after`; answers the number of the last event sent."""
    while True:
        query = select(Event).where(Event.session_id == session, Event.seq > after)
        async with open_database() as db:
            rows = (await db.scalars(query.order_by(Event.seq).limit(PAGE))).all()
        for row in rows:
            text = f'{{"seq":{row.seq},"type":"{row.kind}","at":"{row.at}","data":{row.data}}}'
            await socket.send_text(text)
            after = row.seq
        if len(rows) < PAGE:
            return after


if __name__ == "__main__":
    uvicorn.run(
        app, host="127.0.0.1", port=PORT, log_level="warning", access_log=False, ws_ping_interval=20
    )
