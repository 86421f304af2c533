// Passes requests on to a server and adds its token, because the conformance suite has no option for one.
//
//   node door.js ADDRESS TOKEN
//
// Prints its own address. Everything else of a request stays as it is, `Host` and `Origin` included.
import http from "node:http";

const [address, token] = process.argv.slice(2);
const server = new URL(address);

const door = http.createServer((request, response) => {
  const passed = http.request(
    {
      host: server.hostname,
      port: server.port,
      method: request.method,
      path: request.url,
      headers: { ...request.headers, authorization: `Bearer ${token}` },
    },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});
door.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${door.address().port}/mcp`));
