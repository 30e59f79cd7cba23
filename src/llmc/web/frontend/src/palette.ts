/** The colours of the terminal, legible on their ground in light and dark. */

import type { ITheme } from "@xterm/xterm";

const DARK: ITheme = {
  background: "#15181d", foreground: "#d9dee7", cursor: "#d9dee7", selectionBackground: "#39485f",
  black: "#2a2f38", red: "#ff8079", green: "#79cf8a", yellow: "#e5c06a", blue: "#7fb4ff", magenta: "#d79bf0",
  cyan: "#68cfd6", white: "#d9dee7", brightBlack: "#8b95a5", brightRed: "#ff9d97", brightGreen: "#97e0a5",
  brightYellow: "#f0d48c", brightBlue: "#a3caff", brightMagenta: "#e4b8f6", brightCyan: "#8de2e7", brightWhite: "#ffffff",
};

const LIGHT: ITheme = {
  background: "#fbfbfa", foreground: "#23272e", cursor: "#23272e", selectionBackground: "#cfdcf2",
  black: "#23272e", red: "#b3261e", green: "#1c6b33", yellow: "#7a5300", blue: "#1d55b5", magenta: "#8a2ba5",
  cyan: "#0b6671", white: "#5d6672", brightBlack: "#5d6672", brightRed: "#b3261e", brightGreen: "#1c6b33",
  brightYellow: "#7a5300", brightBlue: "#1d55b5", brightMagenta: "#8a2ba5", brightCyan: "#0b6671", brightWhite: "#23272e",
};

export const palette = (dark: boolean): ITheme => (dark ? DARK : LIGHT);
