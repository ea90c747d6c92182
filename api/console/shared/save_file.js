// @ts-check
// Files that the browser saves.

/**
 * Gives something to the browser as a file.
 * @param {string} name
 * @param {string} type
 * @param {string | Blob} content
 */
export function saveFile(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
