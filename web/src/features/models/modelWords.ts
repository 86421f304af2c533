import type { Model, Models } from "../../api/types";
import { formatPrice } from "../../lib/money";
import { counted } from "../../lib/text";

const VENDORS: Record<string, string> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  gemini: "Gemini",
  bedrock: "Amazon Bedrock",
  vertex: "Google Vertex AI",
  openrouter: "OpenRouter",
  ollama: "Ollama",
  vllm: "vLLM",
  litellm: "LiteLLM",
  scripted: "Scripted",
};

/** The models of one vendor. */
export interface VendorGroup {
  vendor: string;
  label: string;
  usable: Model[];
  /** Models that cannot be used, grouped by the reason, each with their number. */
  missing: { reason: string; words: string }[];
}

/** Returns the part of a model's name before the slash. */
export function vendorOf(name: string): string {
  return name.split("/", 1)[0] ?? "";
}

/** Returns the part after the slash. */
export function shortName(name: string): string {
  return name.slice(vendorOf(name).length + 1) || name;
}

/** Groups models by vendor. Vendors with a usable model come first. */
export function byVendor({ models }: Models): VendorGroup[] {
  const groups = new Map<string, Model[]>();
  for (const model of models) {
    const vendor = vendorOf(model.name);
    groups.set(vendor, [...(groups.get(vendor) ?? []), model]);
  }
  const made = [...groups].map(([vendor, members]) => ({
    vendor,
    label: VENDORS[vendor] ?? vendor,
    usable: members.filter(({ usable }) => usable),
    missing: missing(members),
  }));
  return made.toSorted((a, b) => Number(a.usable.length === 0) - Number(b.usable.length === 0));
}

function missing(models: readonly Model[]): VendorGroup["missing"] {
  const counts = new Map<string, number>();
  for (const { problem } of models) {
    if (problem !== null) counts.set(problem, (counts.get(problem) ?? 0) + 1);
  }
  return [...counts].map(([reason, n]) => ({ reason, words: counted(n, "model") }));
}

/** Formats the price per million tokens: `$4 in, $20 out`. */
export function priceWords({ price }: Model): string | null {
  return price === null ? null : `${formatPrice(price.input)} in, ${formatPrice(price.output)} out`;
}
