import { Button, type IconName } from "../design";
import { chooseTheme, type Theme, useTheme } from "../design/theme";

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
const ICONS: Record<Theme, IconName> = { auto: "screen", light: "sun", dark: "moon" };
const WORDS: Record<Theme, string> = { auto: "system", light: "light", dark: "dark" };

export function ThemeSwitch() {
  const theme = useTheme();
  return (
    <Button
      variant="quiet"
      icon={ICONS[theme]}
      aria-label={`Theme: ${WORDS[theme]}`}
      onClick={() => chooseTheme(NEXT[theme])}
    />
  );
}
