import { describe, expect, it } from "vitest";

import { withToken } from "../../api/apps";
import { placeOf, portOf } from "./place";

describe("placeOf", () => {
  const shown = { service: "port-3000", path: "/" };

  it("reads paths, ports and addresses", () => {
    expect(placeOf("/login?a=b", shown)).toEqual({ service: "port-3000", path: "/login?a=b" });
    expect(placeOf("5173", null)).toEqual({ service: "port-5173", path: "/" });
    expect(placeOf(" :5173/x ", shown)).toEqual({ service: "port-5173", path: "/x" });
    expect(placeOf("localhost:8080/a", shown)).toEqual({ service: "port-8080", path: "/a" });
    expect(placeOf("http://127.0.0.1:8080", shown)).toEqual({ service: "port-8080", path: "/" });
  });

  it("refuses everything else", () => {
    for (const typed of ["", "0", "65536", "https://example.com/", "example.com:80", "localhost"]) {
      expect(placeOf(typed, shown)).toBeNull();
    }
    expect(placeOf("/login", null)).toBeNull();
  });

  it("knows the port of a service", () => {
    expect(portOf(shown)).toBe(3000);
    expect(portOf({ service: "vscode", path: "/" })).toBeNull();
  });
});

describe("withToken", () => {
  const issued = {
    token: "t",
    service: "port-3000",
    expires_at: "",
    urls: { "port-3000": "http://port-3000--s.localhost:7878" },
  };

  it("stays at the program whatever the path is", () => {
    const host = "http://port-3000--s.localhost:7878";
    expect(withToken(issued, "/")).toBe(`${host}/?token=t`);
    expect(withToken(issued, "/a?b=c#d")).toBe(`${host}/a?b=c&token=t#d`);
    expect(withToken(issued, "//evil.example/")).toBe(`${host}//evil.example/?token=t`);
  });
});
