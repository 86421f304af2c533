"""A Discord for tests.

    adapter.py TOKEN

Prints its port, serves `/api/v10/…` and the gateway at `/`, and obeys the tests at `/control/OPERATION`. Ends with its
standard input.
"""

import asyncio
import json
import sys

from aiohttp import web
from simcord import interactions
from simcord.backend import serializers
from simcord.backend.models import Overwrite
from simcord.enums import OverwriteType

from wire import Discord

ADMINISTRATOR, SEND_MESSAGES, VOICE = 8, 2048, 2


class TestDiscord(Discord):
    """Lets tests act as people, look at messages, and make trouble."""

    async def control(self, request):
        operation = getattr(self, "do_" + request.match_info["operation"])
        result = operation(**await request.json())
        return web.json_response(await result if asyncio.iscoroutine(result) else result)

    def do_user(self, name, bot=False):
        return self.backend.make_user(name, bot=bot).id

    def do_guild(self, name):
        return self.backend.create_guild(name).id

    def do_servers(self, count, people):
        """Describes many servers to the bot that exist nowhere else, each with people in its voice channels."""
        for server in range(1, count + 1):
            id = server << 20
            rules = [{"id": str(id), "type": 0, "allow": "0", "deny": "1024"}]
            channels = [
                {"id": str(id + n), "type": VOICE if n <= 10 else 0, "name": f"Room {n}", "permission_overwrites": rules}
                for n in range(1, 41)
            ]
            roles = [{"id": str(id + n), "name": f"role {n}", "permissions": "104324673"} for n in range(1000, 1030)]
            state = {"session_id": "0" * 32, "deaf": False, "mute": False, "self_deaf": False, "self_mute": True}
            seats = [state | {"user_id": str(id + 2000 + n), "channel_id": str(id + n % 10 + 1)} for n in range(people)]
            guild = {"id": str(id), "name": f"Server {server}", "channels": channels, "roles": roles}
            self.dispatch("GUILD_CREATE", guild | {"voice_states": seats, "members": [], "large": True})

    def do_voice_channel(self, guild, name, is_closed=False):
        closed = [Overwrite(self.backend.bot_user.id, OverwriteType.MEMBER, deny=SEND_MESSAGES)]
        return self.backend.create_channel(guild, name, type=VOICE, overwrites=closed if is_closed else None).id

    def do_member(self, guild, user, is_administrator=False):
        role = self.backend.create_role(guild, "admin", permissions=ADMINISTRATOR) if is_administrator else None
        self.backend.add_member(guild, user, roles=[role.id] if role else [])

    def do_voice(self, guild, user, channel=None):
        self.backend.set_voice_state(guild, user, channel)

    def do_dm(self, user, text):
        channel = self.backend.get_dm_channel(user).id
        self.backend.create_message(channel, user, text)
        return channel

    def do_dm_channel(self, user):
        return self.backend.get_dm_channel(user).id

    def do_slash(self, user, channel, name, options, guild=None):
        given = [{"name": key, "type": 3, "value": value} for key, value in options.items()]
        data = {"id": "1", "name": name, "type": 1, "options": given}
        record, payload = interactions.base_payload(
            self.backend, type=2, channel_id=channel, guild_id=guild, user_id=user, data=data
        )
        self.emit("INTERACTION_CREATE", payload)
        return record.id

    async def do_messages(self, channel, after=None):
        """Returns the messages of a channel, when something has happened since the version `after`."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.version != after)
        messages = self.backend.messages.get(channel, {}).values()
        shown = [serializers.message_payload(self.backend, message) for message in messages]
        return {"version": self.version, "messages": shown}

    def do_state(self):
        requests = [[entry.method, entry.path, entry.json] for entry in self.backend.http_requests]
        commands = sorted(name for name, _ in self.backend.commands.get(None, {}))
        seen = {"requests": requests, "commands": commands, "n_faults": len(self.faults)}
        return {"version": self.version, **seen, **self.counts}

    def do_fault(self, method, path, status, times=1, after=False, scope="user"):
        fault = {"method": method, "path": path, "status": status, "after": after, "scope": scope}
        self.faults += [fault for _ in range(times)]

    async def do_drop(self, code):
        await self.socket.close(code=code)

    async def do_order(self, op, data=None):
        """Sends an order of the gateway: 7 asks for a new connection, and 9 ends the session."""
        await self.socket.send_json({"op": op, "d": data, "s": None, "t": None})

    def do_repeat(self, user):
        """Sends the event of a person's newest message again."""
        messages = [event for event in map(json.loads, self.events) if event["t"] == "MESSAGE_CREATE"]
        self.dispatch("MESSAGE_CREATE", [m["d"] for m in messages if m["d"]["author"]["id"] == str(user)][-1])

    def do_dispatch(self, events):
        for kind, payload in events:
            self.dispatch(kind, payload)


async def main():
    fake = TestDiscord(sys.argv[1])
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/api/v10/{path:.*}", fake.rest)
    app.router.add_post("/control/{operation}", fake.control)
    app.router.add_get("/", fake.gateway)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
