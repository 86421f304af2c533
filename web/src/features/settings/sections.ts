/** The sections of the settings page. `hash` is the id of a section's heading. */
export const SETTINGS_SECTIONS: readonly { hash: string; title: string; isForAdmins?: boolean }[] = [
  { hash: "approvals-heading", title: "Approvals" },
  { hash: "usage-heading", title: "Usage" },
  { hash: "limits-heading", title: "Limits" },
  { hash: "secrets-heading", title: "Secrets" },
  { hash: "hosts-heading", title: "Allowed hosts" },
  { hash: "tokens-heading", title: "Tokens" },
  { hash: "sign-ins-heading", title: "Where you are signed in" },
  { hash: "history-heading", title: "Your history" },
  { hash: "users-heading", title: "Users", isForAdmins: true },
  { hash: "audit-heading", title: "Changes by all users", isForAdmins: true },
];
