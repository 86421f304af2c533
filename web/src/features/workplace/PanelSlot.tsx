import { Bug, LoaderCircle } from "lucide-react";
import { Component, type ComponentType, lazy, memo, type ReactNode, Suspense, useState } from "react";

import { messageOf } from "../../api/client";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import type { PanelProps } from "./panel";
import type { Panel } from "./panels";

interface PanelSlotProps {
  panel: Panel;
  panelProps: PanelProps;
}

/** Loads and shows one panel. If it fails, the rest of the page goes on. */
export function PanelSlot({ panel, panelProps }: PanelSlotProps) {
  const [Content, setContent] = useState(() => contentOf(panel));
  return (
    <PanelBoundary title={panel.title} onRetry={() => setContent(() => contentOf(panel))}>
      <Suspense fallback={<Loading title={panel.title} />}>
        <Content {...panelProps} />
      </Suspense>
    </PanelBoundary>
  );
}

/** Returns a component that loads the panel. Another attempt needs a new one. */
function contentOf({ load }: Panel): ComponentType<PanelProps> {
  // A panel that is moved or resized has nothing new to show.
  return lazy(async () => ({ default: memo(await load()) }));
}

function Loading({ title }: { title: string }) {
  return (
    <div role="status" className="grid h-full animate-appear-late place-items-center text-[13px] text-soft">
      <span className="flex items-center gap-2">
        <LoaderCircle aria-hidden className="size-4 animate-spin text-accent" /> Loading {title}…
      </span>
    </div>
  );
}

interface PanelBoundaryProps {
  title: string;
  onRetry: () => void;
  children: ReactNode;
}

class PanelBoundary extends Component<PanelBoundaryProps, { error: unknown }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const retry = () => {
      this.props.onRetry();
      this.setState({ error: null });
    };
    return (
      <div className="grid h-full place-items-center overflow-auto">
        <Placeholder
          icon={<Bug aria-hidden />}
          title={`${this.props.title} failed`}
          actions={<Button onClick={retry}>Try again</Button>}
        >
          {messageOf(error)}
        </Placeholder>
      </div>
    );
  }
}
