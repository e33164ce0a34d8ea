/** Text longer than a line ends with an ellipsis. */
export function shortened(text: string, most: number): string {
  const characters = [...text.replaceAll(/\s+/g, " ")];
  return characters.length <= most
    ? characters.join("")
    : `${characters.slice(0, Math.max(0, most - 1)).join("")}…`;
}

export function wrapped(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}
