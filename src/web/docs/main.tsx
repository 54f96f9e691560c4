import { Frame } from "../shared/frame.tsx";
import { mount } from "../shared/mount.tsx";

/** The entry of `/docs`. */
mount(
  <Frame current="/docs">
    <h1>API</h1>
  </Frame>,
);
