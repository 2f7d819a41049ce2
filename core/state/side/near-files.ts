/** Files that a person may mean while they type a path. */
import { readdirSync } from 'node:fs'

const most = 100

/** Paths that begin so, folders with a slash behind them; those that begin with a dot where the dot was typed. */
export const filesNear = (begun: string): readonly string[] => {
  const folder = begun.slice(0, begun.lastIndexOf('/') + 1)
  const prefix = begun.slice(folder.length)
  try {
    return readdirSync(folder === '' ? '.' : folder, { withFileTypes: true })
      .filter(({ name }) => name.startsWith(prefix) && (prefix !== '' || !name.startsWith('.')))
      .slice(0, most)
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .toSorted()
  } catch {
    return []
  }
}
