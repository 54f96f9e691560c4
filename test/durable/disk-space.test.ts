import { expect, test } from "vitest";
import { DiskSpace } from "../../src/durable/disk-space.ts";

// When the disk is looked at, on a disk whose size is said.

const GB = 1024 ** 3;

function diskOf(bytes: number) {
  const disk = { bytes, looks: 0 };
  const space = new DiskSpace(
    {
      get databaseSize() {
        disk.looks += 1;
        return disk.bytes;
      },
    },
    8 * GB,
  );
  return { disk, space };
}

test("a disk with room is looked at once for many questions, and a full one is found out after those", () => {
  const { disk, space } = diskOf(GB);
  for (let n = 0; n < 256; n++) expect(space.isShort).toBe(false);
  expect(disk.looks).toBe(1);
  disk.bytes = 9 * GB;
  expect(space.isShort).toBe(true);
});

test("a disk that is full is looked at each time, so that room is seen at once", () => {
  const { disk, space } = diskOf(9 * GB);
  for (let n = 0; n < 10; n++) expect(space.isShort).toBe(true);
  expect(disk.looks).toBe(10);
  disk.bytes = GB;
  expect(space.isShort).toBe(false);
});
