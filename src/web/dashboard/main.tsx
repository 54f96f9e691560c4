import { Frame } from "../shared/frame.tsx";
import { mount } from "../shared/mount.tsx";

/** The entry of `/dashboard`. */
mount(
  <Frame current="/dashboard">
    <h1>Dashboard</h1>
  </Frame>,
);
