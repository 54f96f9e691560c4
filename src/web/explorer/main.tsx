import { Frame } from "../shared/frame.tsx";
import { mount } from "../shared/mount.tsx";
import { Explorer } from "./explorer.tsx";
import "./explorer.css";

/** The entry of `/explorer`. */
mount(
  <Frame current="/explorer">
    <Explorer />
  </Frame>,
);
