import { Frame } from "../shared/frame.tsx";
import { mount } from "../shared/mount.tsx";

/** The entry of `/explorer`. */
mount(
  <Frame current="/explorer">
    <h1>Explorer</h1>
  </Frame>,
);
