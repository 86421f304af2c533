"""HTTP and the gateway in front of simcord, which knows payloads, permissions, error codes and intents.

Only the protocol on the sockets is ours: hello, identify, heartbeats, resuming, rate limits and nonces.
"""

import asyncio
import copy
import json

import discord
from aiohttp import WSMsgType, web
from simcord import intents as rules
from simcord.backend import Backend, serializers
from simcord.backend.errors import BackendError
from simcord.http import router


class Discord:
    def __init__(self, token):
        self.token = token
        self.backend = Backend()
        self.backend.subscribers.append(self.emit)
        # The one session of the gateway: its events so far, its intents, and its socket while there is one.
        self.events, self.intents, self.socket = [], None, None
        self.counts = {"identified": 0, "resumed": 0, "intents": 0}
        self.faults, self.nonces, self.version = [], {}, 0
        self.changed = asyncio.Condition()

    async def note_change(self):
        async with self.changed:
            self.version += 1
            self.changed.notify_all()

    # ---- The gateway -------------------------------------------------------------------------------

    def emit(self, kind, payload):
        """Delivers an event as far as the bot's intents allow."""
        gate = rules.required_intent(kind, payload)
        if self.intents is None or (gate and not getattr(self.intents, gate)):
            return
        payload = copy.deepcopy(dict(payload))
        if kind in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
            rules.censor_message(payload, self.backend.bot_user.id, backend=self.backend)
        elif kind == "GUILD_CREATE":
            rules.prune_guild_create(payload, self.intents, self.backend.bot_user.id)
        self.dispatch(kind, payload)

    def dispatch(self, kind, payload):
        self.events.append(json.dumps({"op": 0, "s": len(self.events) + 1, "t": kind, "d": payload}))
        self.deliver(self.events[-1])

    def deliver(self, text):
        if self.socket is not None and not self.socket.closed:
            asyncio.ensure_future(self.socket.send_str(text))

    async def gateway(self, request):
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": 41250}})
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                command = json.loads(message.data)
                if command["op"] == 1:
                    await socket.send_json({"op": 11})
                elif command["op"] in (2, 6) and command["d"]["token"].removeprefix("Bot ") != self.token:
                    await socket.close(code=4004, message=b"Authentication failed.")
                elif command["op"] == 2:
                    self.identify(socket, request.host, command["d"])
                elif command["op"] == 6:
                    self.socket = socket
                    self.counts["resumed"] += 1
                    for text in self.events[command["d"]["seq"] :]:
                        self.deliver(text)
                    self.dispatch("RESUMED", {})
                await self.note_change()
        return socket

    def identify(self, socket, host, identity):
        self.socket, self.events = socket, []
        self.intents = discord.Intents._from_value(identity["intents"])
        self.counts.update(identified=self.counts["identified"] + 1, intents=identity["intents"])
        user = dict(serializers.user_payload(self.backend.bot_user))
        guilds = [{"id": str(id), "unavailable": True} for id in self.backend.guilds]
        ready = {"v": 10, "user": user, "guilds": guilds, "session_id": "session", "shard": [0, 1]}
        application = {"id": str(self.backend.application_id), "flags": 0}
        self.dispatch("READY", ready | {"resume_gateway_url": f"ws://{host}", "application": application})
        for guild in self.backend.guilds.values():
            self.emit("GUILD_CREATE", serializers.guild_create_payload(self.backend, guild))

    # ---- HTTP --------------------------------------------------------------------------------------

    async def rest(self, request):
        path = "/" + request.match_info["path"]
        body = await request.json() if request.can_read_body else None
        by_token = path.startswith(("/interactions/", "/webhooks/"))
        if not by_token and request.headers.get("Authorization") != f"Bot {self.token}":
            return answer(401, {"code": 0, "message": "401: Unauthorized"})
        fault = next((f for f in self.faults if f["method"] == request.method and f["path"] in path), None)
        if fault:
            self.faults.remove(fault)
            if fault["after"]:
                self.carry_out(request, path, body)
            await self.note_change()
            return limited(fault["scope"]) if fault["status"] == 429 else answer(fault["status"], {"code": 0, "message": "fault"})
        status, result = self.carry_out(request, path, body)
        await self.note_change()
        return answer(status, result)

    def carry_out(self, request, path, body):
        nonce = (path, body["nonce"]) if isinstance(body, dict) and body.get("enforce_nonce") else None
        if nonce in self.nonces:
            return 200, self.nonces[nonce]
        try:
            result = router.dispatch(self.backend, request.method, path, json=body, params=dict(request.query))
        except BackendError as error:
            return error.status, error.to_json()
        if nonce:
            self.nonces[nonce] = result
        return (204, None) if result is None else (200, result)


def answer(status, body):
    """Sends JSON without a charset, as Discord does."""
    text = b"" if body is None else json.dumps(body).encode()
    return web.Response(status=status, body=text, content_type="application/json")


def limited(scope):
    """Limits the rate: for some requests ("user"), for all ("global"), or without a word about it, as a proxy does."""
    response = answer(429, {"message": "You are being rate limited.", "retry_after": 0.2, "global": scope == "global"})
    limit = {}
    if scope == "user":
        limit = {"Limit": "5", "Remaining": "0", "Reset-After": "0.2", "Bucket": "bucket", "Scope": "user"}
    elif scope == "global":
        limit = {"Global": "true", "Scope": "global"}
    response.headers.update({f"X-RateLimit-{name}": value for name, value in limit.items()})
    if scope:
        response.headers["Retry-After"] = "1"
    return response
