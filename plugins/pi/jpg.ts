// Written by `jpg hooks install pi`: jpg inside pi. `jpg hooks uninstall pi` removes it.
const JPG = ["jpg", "live"];

export default function (): void {
  void JPG;
}
