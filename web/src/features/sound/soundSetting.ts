import { observable, type Observable } from "../../lib/observable";
import { readStored, writeStored } from "../../lib/stored";

/** A person's choice about sound, in this browser. */
export interface SoundSetting {
  isOn: boolean;
  /** From 0 to 1. */
  volume: number;
}

const QUIET: SoundSetting = { isOn: false, volume: 0.8 };

const settings = new Map<string, Observable<SoundSetting>>();

/** Returns the choice of a person. Nobody hears anything before they have turned it on. */
export function soundSetting(user: string): Observable<SoundSetting> {
  let setting = settings.get(user);
  if (!setting) {
    setting = observable(parsed(readStored(keyOf(user))));
    settings.set(user, setting);
  }
  return setting;
}

export function changeSound(user: string, change: Partial<SoundSetting>): void {
  const setting = soundSetting(user);
  const changed = { ...setting.get(), ...change };
  setting.set(changed);
  writeStored(keyOf(user), JSON.stringify(changed));
}

/** Reads a stored choice. Someone may have changed it by hand. */
export function parsed(stored: string | null): SoundSetting {
  if (stored === null) return QUIET;
  try {
    const { isOn, volume } = JSON.parse(stored) as Partial<SoundSetting>;
    return {
      isOn: isOn === true,
      volume: typeof volume === "number" ? Math.min(1, Math.max(0, volume)) : QUIET.volume,
    };
  } catch {
    return QUIET;
  }
}

function keyOf(user: string): string {
  return `deskhand.sound.${user}`;
}
