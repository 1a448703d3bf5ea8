// The two halves of flechette's `tableFromIPC`, which its index does not name.
declare module "@uwdata/flechette/src/decode/decode-ipc.js" {
  export { decodeIPC } from "@uwdata/flechette/dist/types/decode/decode-ipc.js";
}
declare module "@uwdata/flechette/src/decode/table-from-ipc.js" {
  export { createTable } from "@uwdata/flechette/dist/types/decode/table-from-ipc.js";
}
