/** What is made of files is called. */
/** Characters of a file name. */
const most = 255

/** After the file that it was made of. */
export const derivedName = (file_name: string, ending: string): string =>
  `${file_name.slice(0, most - ending.length)}${ending}`
