import { Link } from "@tanstack/react-router";
import { SearchX } from "lucide-react";

import { Placeholder } from "../components/Placeholder";
import { TopBar } from "../components/TopBar";
import { AccountMenu } from "../features/account/AccountMenu";
import { HomeLink } from "../features/account/Navigation";

interface NotFoundPageProps {
  title?: string;
  explanation?: string;
}

export function NotFoundPage({
  title = "There is no such page",
  explanation = "The address may be mistyped.",
}: NotFoundPageProps) {
  return (
    <div className="flex min-h-full flex-col">
      <title>{`${title} · Deskhand`}</title>
      <TopBar home={<HomeLink withName />} actions={<AccountMenu />} />
      <main className="grid flex-1 place-items-center">
        <Placeholder
          icon={<SearchX aria-hidden />}
          title={title}
          actions={
            <Link
              to="/"
              className="inline-flex h-8 items-center rounded-md border border-line-strong bg-surface px-3 text-[13px] font-medium hover:bg-hover"
            >
              All sessions
            </Link>
          }
        >
          {explanation}
        </Placeholder>
      </main>
    </div>
  );
}
