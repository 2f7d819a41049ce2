/** Reads the file of a cassette. */
import path from 'node:path'
import { Problem, readOutside, realFolder } from '../../../../core/plugin.js'
import { cassetteErrors } from './errors.js'
import { mostBytes, readCassette, type Cassette } from './format.js'

/** Throws the errors of a cassette. */
export const loadCassette = async (file: string): Promise<Cassette> => {
  const unreadable = (rule: string): Problem => cassetteErrors.cassette_unreadable({ details: { file, rule } })
  const folder = realFolder(path.dirname(path.resolve(file)))
  const found = folder === undefined ? undefined : await readOutside(folder.path, path.basename(file), mostBytes)
  if (found === undefined) throw unreadable('is not there')
  if (!found.ok) throw unreadable(found.rule)
  return readCassette(path.basename(file), found.text)
}
