/** A copy of the build: its modules and its program, to be changed. */
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { dist } from '../../core/build/program.js'
import { repository } from './docs.js'
import { freshFolder } from './folders.js'

/** The folder that is `dist` of it. */
export const copyOfBuild = (): string => {
  const folder = path.join(freshFolder(), 'dist')
  for (const part of ['core', 'plugins', 'bundle', '.tsbuildinfo'])
    cpSync(path.join(dist, part), path.join(folder, part), { recursive: true })
  writeFileSync(path.join(folder, '../package.json'), '{"type":"module"}')
  symlinkSync(path.join(repository, 'node_modules'), path.join(folder, '../node_modules'))
  return folder
}
