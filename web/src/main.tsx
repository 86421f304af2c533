import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";

import { createQueryClient } from "./api/queryClient";
import { Gate } from "./features/account/Gate";
import { Join } from "./features/account/Join";
import { activityPlace } from "./lib/discordFrame";
import { hasCode, takeCodeFromAddress } from "./lib/signInCode";
import { router } from "./router";
import "./styles.css";

// A link that is opened where the page is open already changes only what stands behind `#`.
window.addEventListener("hashchange", () => {
  if (hasCode(window.location.hash)) window.location.reload();
});

const arrivalCode = takeCodeFromAddress("code");
const shareCode = takeCodeFromAddress("share");
const queryClient = createQueryClient();
/** The token of the watch link that the page was opened with. Whoever has one need not sign in. */
const [, watchToken] = /^\/watch\/([^/]+)\/?$/.exec(window.location.pathname) ?? [];
/** The place at which Discord shows this page, if it does. Its frame never shows the dashboard. */
const activity = activityPlace(window.location.search);
const ActivityPage = lazy(async () => ({ default: (await import("./pages/ActivityPage")).ActivityPage }));
const WatchPage = lazy(async () => ({ default: (await import("./pages/WatchPage")).WatchPage }));
const place = document.getElementById("root");

if (place) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        {activity !== null ? (
          <Suspense>
            <ActivityPage place={activity} />
          </Suspense>
        ) : watchToken === undefined ? (
          <Gate arrivalCode={arrivalCode}>
            <Join shareCode={shareCode}>
              <RouterProvider router={router} />
            </Join>
          </Gate>
        ) : (
          <Suspense>
            <WatchPage token={watchToken} />
          </Suspense>
        )}
      </QueryClientProvider>
    </StrictMode>,
  );
}
