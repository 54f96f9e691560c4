import { mount } from "../shared/mount.tsx";
import { Dashboard } from "./dashboard.tsx";
import "./dashboard.css";

/** The entry of `/dashboard`. */
mount(<Dashboard />);
