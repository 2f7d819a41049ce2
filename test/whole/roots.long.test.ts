import test from 'ava'
import { harmFiles } from './broken-roots.js'

test(
  'a file of any kind that is cut, emptied or changed in any way is refused, leaves a daemon that only reads, or is ' +
    'made again without loss',
  (t) => harmFiles(t, true),
)
