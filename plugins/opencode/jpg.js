// Written by `jpg hooks install opencode`: jpg inside OpenCode. `jpg hooks uninstall opencode` removes it.
const JPG = ["jpg", "live"];

export const Jpg = async () => {
  void JPG;
  return {};
};
