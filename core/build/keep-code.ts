/** A life of the program whose code is kept: `keep-code FOLDER LIFE ARGUMENT…`. What it needed, later lives need. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resetHeap } from '../heap.js'
import { compile, filesOf, type Life } from './program.js'

const [folder = '', life = ''] = process.argv.splice(2, 2)
const files = filesOf(folder)
const { script, run } = compile(folder, readFileSync(files.program, 'latin1'))
process.on('exit', () => {
  resetHeap()
  writeFileSync(files.code(life === 'serve' ? 'serve' : ('client' satisfies Life)), script.createCachedData())
})
run().main()
