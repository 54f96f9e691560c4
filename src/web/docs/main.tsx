import { Frame } from "../shared/frame.tsx";
import { mount } from "../shared/mount.tsx";
import { Reference } from "./reference.tsx";
import "./docs.css";

/** The entry of `/docs`. */
mount(
  <Frame current="/docs">
    <Reference />
  </Frame>,
);
