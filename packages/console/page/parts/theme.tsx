import { useEffect, useState } from "preact/hooks";

const NAMES = ["system", "light", "dark"] as const;
type Theme = (typeof NAMES)[number];
const KEPT = "waybill-theme";

/** Chooses light, dark, or what the system says; the choice is kept in this browser. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(
    () => NAMES.find((name) => name === localStorage.getItem(KEPT)) ?? "system",
  );
  useEffect(() => {
    localStorage.setItem(KEPT, theme);
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  const next = NAMES[(NAMES.indexOf(theme) + 1) % NAMES.length]!;
  return (
    <button type="button" class="plain" onClick={() => setTheme(next)}>
      Theme: {theme}
    </button>
  );
}
