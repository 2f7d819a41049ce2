/** JSON as it comes: for tests that look into answers. */
export const parseJson = (text: string): any => JSON.parse(text)
