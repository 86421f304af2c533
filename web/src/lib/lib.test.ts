import { expect, it } from "vitest";

import { backoffMs } from "./backoff";
import { browserName } from "./browserName";
import { formatTokens, formatUsd, spentWords } from "./money";
import { codeFrom, hasCode, takeCodeFromAddress } from "./signInCode";
import { sentence, shorten, visible } from "./text";
import { formatAgo, formatDuration, formatElapsed } from "./time";

it("says durations as people do", () => {
  expect([84, 6210, 59_990, 80_000, 7_500_000].map(formatDuration)).toEqual([
    "84 ms",
    "6.2 s",
    "59 s",
    "1 min 20 s",
    "2 h 5 min",
  ]);
  expect(formatElapsed(-400)).toBe("0 s");
});

it("says what was used, and what it cost as far as that is known", () => {
  expect([0, 0.00001, 0.0042, 0.129, 12.3].map(formatUsd)).toEqual([
    "$0.00",
    "under $0.0001",
    "$0.0042",
    "$0.13",
    "$12.30",
  ]);
  expect([1, 999, 12_345, 999_960, 1_200_000].map(formatTokens)).toEqual([
    "1 token",
    "999 tokens",
    "12.3k tokens",
    "1.0M tokens",
    "1.2M tokens",
  ]);
  expect(spentWords({ usd: 0, tokens: 0, isUnpriced: false })).toBeNull();
  expect(spentWords({ usd: 0.5, tokens: 2000, isUnpriced: false })).toBe("$0.50 · 2.0k tokens");
  expect(spentWords({ usd: 0, tokens: 2000, isUnpriced: true })).toBe("2.0k tokens, no price known");
  expect(spentWords({ usd: 0.5, tokens: 2000, isUnpriced: true })).toBe(
    "at least $0.50 · 2.0k tokens",
  );
});

it("says how long ago something was", () => {
  const now = Date.parse("2025-01-10T12:00:00Z");
  expect(formatAgo("2025-01-10T11:59:30Z", now)).toBe("just now");
  expect(formatAgo("2025-01-10T11:55:00Z", now)).toBe("5 min ago");
  expect(formatAgo("2025-01-10T09:00:00Z", now)).toBe("3 h ago");
  expect(formatAgo("2025-01-09T11:00:00Z", now)).toBe("yesterday");
  expect(formatAgo("2025-01-07T11:00:00Z", now)).toBe("3 days ago");
});

it("waits twice as long each time, up to the longest, never less than half", () => {
  const backoff = { firstMs: 500, longestMs: 4000 };
  expect([0, 1, 2, 3, 9].map((n) => backoffMs(n, backoff, 1))).toEqual([
    500, 1000, 2000, 4000, 4000,
  ]);
  expect(backoffMs(1, backoff, 0)).toBe(500);
});

it("finds the code in whatever was pasted", () => {
  expect(codeFrom(" abc123 ")).toBe("abc123");
  expect(codeFrom("http://localhost:7878/?code=abc123\n")).toBe("abc123");
  expect(codeFrom("/?x=1&code=a%2Bb#top")).toBe("a+b");
  expect(codeFrom("http://localhost:7878/#code=abc-123")).toBe("abc-123");
});

it("takes the code out of the address bar and leaves the rest", () => {
  window.history.replaceState(null, "", "/sessions/1?code=abc&tab=2");
  expect(takeCodeFromAddress("code")).toBe("abc");
  expect(window.location.pathname + window.location.search).toBe("/sessions/1?tab=2");
  expect(takeCodeFromAddress("code")).toBeNull();
});

it("takes the code from behind the hash", () => {
  window.history.replaceState(null, "", "/sessions/1?tab=2#code=a-b_c");
  expect(hasCode(window.location.hash)).toBe(true);
  expect(takeCodeFromAddress("share")).toBeNull();
  expect(takeCodeFromAddress("code")).toBe("a-b_c");
  expect(window.location.href).toMatch(/\/sessions\/1\?tab=2#?$/);
  expect(takeCodeFromAddress("code")).toBeNull();
  expect(hasCode("#top")).toBe(false);
});

it("names browsers shortly", () => {
  const linux = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";
  expect(browserName(`${linux} Chrome/156.0.0.0 Safari/537.36`)).toBe("Chrome on Linux");
  expect(browserName(`${linux} Chrome/156.0.0.0 Safari/537.36 Edg/156.0`)).toBe("Edge on Linux");
  expect(browserName("Mozilla/5.0 (Macintosh; Intel Mac OS X 15.0; rv:150.0) Firefox/150.0")).toBe(
    "Firefox on macOS",
  );
  expect(browserName("curl/8.0")).toBe("curl/8.0");
  expect(browserName(null)).toBe("Unknown browser");
});

it("makes sentences of the server's messages", () => {
  expect(sentence("there is no session 7")).toBe("There is no session 7.");
  expect(sentence("Try again!")).toBe("Try again!");
  expect(sentence("openai/gpt-6-sol: overloaded")).toBe("openai/gpt-6-sol: overloaded.");
  expect(shorten("a  long\nline of words", 9)).toBe("a long l…");
});

it("shows characters that would make a text look like another", () => {
  expect(visible("rm\t-r\r\nü 🦀")).toBe("rm\t-r\nü 🦀");
  expect(visible("\u001b[2J\r\u0007\u009b")).toBe("\\u001b[2J\\u000d\\u0007\\u009b");
  expect(visible("rm\u200b \u2060\ufeffa\u2028")).toBe("rm\\u200b \\u2060\\ufeffa\\u2028");
  expect(visible("pay\u200dpal \u200c")).toBe("pay\\u200dpal \\u200c");
  expect(visible("👩\u200d👧 می\u200cش")).toBe("👩\u200d👧 می\u200cش");
  expect(visible("\u202etxt.exe\u2069\u200f")).toBe("\\u202etxt.exe\\u2069\\u200f");
});
