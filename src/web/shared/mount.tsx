import { type ComponentChild, render } from "preact";
import { startTheme } from "./theme.ts";
import "./theme.css";

/** Starts a page: the theme first, then what it shows, into the one element that its document has for it. */
export function mount(page: ComponentChild): void {
  startTheme();
  const place = document.getElementById("page");
  if (place === null) throw new Error("the document has no #page");
  render(page, place);
}
