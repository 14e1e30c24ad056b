"""Record batches in and out, where pyarrow is; frames of pandas and Dask where those are."""
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import clearance
import numpy as np
from clearance import Mode
from test_clearance import arm, boxes

try:
    import pyarrow as pa
    from clearance import batch
except ImportError:
    pa = None


def has(*names):
    return all(importlib.util.find_spec(name) for name in names)


@unittest.skipIf(pa is None, "there is no pyarrow")
class Batches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine, cls.robot = clearance.local(), arm()
        cls.cell = clearance.Cell(cls.robot, boxes())
        cls.values = cls.robot.sample(500, 1)
        cls.rows = pa.record_batch({"row": np.arange(500), "q": batch.column(cls.values)})

    def test_answers_are_those_of_arrays(self):
        for mode in (Mode.FIRST_PAIR, Mode.CLEARANCE, Mode.LINK_CLEARANCE):
            told = self.engine.check(self.cell, self.values, mode=mode)
            answered = batch.Checker(self.cell, mode=mode)(self.rows)
            self.assertEqual(answered.schema.names[:3], ["row", "q", "verdict"])
            np.testing.assert_array_equal(answered["verdict"], told.verdicts)
            self.assertEqual(answered["reason"].null_count, 500)
            if mode == Mode.FIRST_PAIR:
                at = np.flatnonzero(~told.free)
                self.assertTrue(0 < len(at) < 500)
                self.assertEqual(answered["body_a"].null_count, 500 - len(at))
                named = [(answered["body_a"][int(i)].as_py(), answered["body_b"][int(i)].as_py()) for i in at]
                self.assertEqual(named, [tuple(pair) for pair in told.contacts[:, 1:].tolist()])
            elif mode == Mode.CLEARANCE:
                np.testing.assert_array_equal(answered["clearance_lower"], told.lower)
                np.testing.assert_array_equal(answered["clearance_upper"], told.upper)
                np.testing.assert_array_equal(answered["body_b"], told.pairs[:, 1])
            else:
                lists = np.array(answered["clearance_lower"].flatten()).reshape(told.lower.shape)
                np.testing.assert_array_equal(lists, told.lower)
        self.assertRaises(ValueError, batch.Checker, self.cell, mode=Mode.ALL_PAIRS)

    def test_edges_are_asked_about_two_columns(self):
        ends = self.values * 0.9 + self.robot.sample(500, 4) * 0.1
        told = self.engine.check_edges(self.cell, self.values, ends)
        rows = pa.record_batch({"from": batch.column(self.values), "to": batch.column(ends)})
        answered = batch.Checker(self.cell, "from", to="to")(rows)
        np.testing.assert_array_equal(answered["outcome"], told.outcomes)
        np.testing.assert_array_equal(answered["free_until"], told.free_until)
        self.assertEqual(500 - answered["body_a"].null_count, len(told.near))

    def test_columns_of_every_kind_say_the_same(self):
        expected = batch.Checker(self.cell, mode=Mode.CLEARANCE)(self.rows)["clearance_lower"]
        lists = self.values.tolist()
        tensor = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.float64(), [6]), batch.column(self.values))
        padded = batch.column(np.concatenate([np.full((7, 6), 9.0), self.values, np.full((2, 6), 9.0)]))
        for column in (pa.array(lists, pa.list_(pa.float64())), pa.array(lists, pa.large_list(pa.float64())), tensor,
                       padded.slice(7, 500), pa.array([[0.0] * 6] * 3 + lists, pa.list_(pa.float64())).slice(3)):
            answered = batch.Checker(self.cell, mode=Mode.CLEARANCE)(pa.record_batch({"q": column}))
            self.assertEqual(answered["clearance_lower"], expected, column.type)
        names = [f"q{i}" for i in range(6)]
        columns = pa.record_batch({name: self.values[:, i] for i, name in enumerate(names)})
        self.assertEqual(batch.Checker(self.cell, names, mode=Mode.CLEARANCE)(columns)["clearance_lower"], expected)
        single = pa.record_batch({"q": pa.array(lists, pa.list_(pa.float32(), 6))})
        told = self.engine.check(self.cell, self.values.astype(np.float32).astype(float))
        np.testing.assert_array_equal(batch.Checker(self.cell)(single)["verdict"], told.verdicts)

    def test_however_rows_are_cut_the_answers_are_the_same(self):
        whole = batch.Checker(self.cell, mode=Mode.CLEARANCE)(self.rows)
        table = pa.Table.from_batches([self.rows])
        kept, batch._ROWS = batch._ROWS, 37
        try:
            checker = batch.Checker(self.cell, mode=Mode.CLEARANCE)
            self.assertEqual(checker(self.rows), whole)
            self.assertEqual(checker(table).combine_chunks().to_batches()[0], whole)
            pieces = list(checker.map(self.rows.slice(at, 60) for at in range(0, 500, 60)))
        finally:
            batch._ROWS = kept
        self.assertEqual(pa.Table.from_batches(pieces).combine_chunks().to_batches()[0], whole)
        self.assertEqual(checker(self.rows.slice(0, 0)).schema, whole.schema)
        self.assertEqual(checker(table.slice(0, 0)).schema, whole.schema)
        self.assertEqual(checker.schema(self.rows.schema), whole.schema)

    def test_rows_that_cannot_be_answered_say_why(self):
        values = self.values.copy()
        values[3, 2] = 99.0
        lists = values.tolist()
        lists[5] = None
        for kind in (pa.list_(pa.float64(), 6), pa.list_(pa.float64())):
            for mode in (Mode.FIRST_PAIR, Mode.CLEARANCE):
                answered = batch.Checker(self.cell, mode=mode)(pa.record_batch({"q": pa.array(lists, kind)}))
                self.assertEqual(np.flatnonzero(np.array(answered["verdict"]) == 0).tolist(), [3, 5])
                reasons = answered["reason"]
                self.assertEqual((reasons[4].as_py(), 500 - reasons.null_count), (None, 2))
                self.assertEqual({reasons[3].as_py(), reasons[5].as_py()}, {"BAD_FIELD"})
                if mode == Mode.CLEARANCE:
                    self.assertEqual([answered["clearance_lower"][i].as_py() is None for i in (3, 4, 5)], [True, False, True])

    def test_what_is_no_column_of_configurations_is_named(self):
        short = self.values[:, :5].tolist()
        wrong = [
            ({"p": batch.column(self.values)}, "'q'"), ({"q": batch.column(self.values[:, :5])}, "lists of 5"),
            ({"q": pa.array(self.values.tolist()[:2] + short[:1])}, "row 2"), ({"q": pa.array(["a"])}, "string"),
            ({"q": pa.array([["a"] * 6])}, "string"), ({"q": batch.column(self.values), "verdict": self.values[:, 0]}, "'verdict'"),
        ]
        for columns, said in wrong:
            with self.assertRaises(ValueError) as caught:
                batch.Checker(self.cell)(pa.record_batch(columns))
            self.assertIn(said, str(caught.exception))
        self.assertRaises(TypeError, batch.Checker(self.cell), {"q": self.values})
        self.assertRaises(ValueError, batch.column, self.values[0])

    def test_it_goes_to_other_processes(self):
        checker = batch.Checker(self.cell, mode=Mode.CLEARANCE, threads=1)
        expected = checker(self.rows)
        code = ("import pickle, sys, pyarrow as pa\n"
                "checker, rows = pickle.load(sys.stdin.buffer)\n"
                "pickle.dump(checker(rows), sys.stdout.buffer)\n")
        told = subprocess.run([sys.executable, "-c", code], input=pickle.dumps((checker, self.rows)), capture_output=True,
                              check=True).stdout
        self.assertEqual(pickle.loads(told), expected)
        mine = batch.Checker(self.cell, engine=lambda: self.engine)
        self.assertIs(mine.engine, self.engine)

    def test_a_file_is_whole_or_not_there(self):
        checker = batch.Checker(self.cell)
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "a.arrow"), os.path.join(folder, "out")
            with pa.OSFile(source, "wb") as file, pa.ipc.new_file(file, self.rows.schema) as writer:
                for at in range(0, 500, 100):
                    writer.write_batch(self.rows.slice(at, 100))
            seen = []
            path = checker.file(source, target, progress=lambda done, total: seen.append(done))
            with pa.memory_map(path) as file:
                told = pa.ipc.open_file(file).read_all()
            self.assertEqual(told.combine_chunks().to_batches()[0], checker(self.rows))
            self.assertEqual(seen, [100, 200, 300, 400, 500, 500])
            when = os.stat(path).st_mtime_ns
            checker.file(source, target)
            self.assertEqual((os.stat(path).st_mtime_ns, os.listdir(target)), (when, ["a.arrow"]))

            class Fails(batch.Checker):
                def __call__(self, rows):
                    if len(rows):
                        raise RuntimeError("gone")
                    return super().__call__(rows)

            other = os.path.join(folder, "other")
            self.assertRaises(RuntimeError, Fails(self.cell).file, source, other)
            self.assertEqual(os.listdir(other), [])

    @unittest.skipUnless(has("pandas"), "there is no pandas")
    def test_frames_are_taken(self):
        import pandas
        expected = batch.Checker(self.cell, mode=Mode.CLEARANCE)(self.rows)["clearance_lower"].to_numpy()
        index = np.arange(500) * 3
        frames = [pandas.DataFrame({"q": list(self.values)}, index=index),
                  pandas.DataFrame({"q": pandas.arrays.ArrowExtensionArray(batch.column(self.values))}, index=index)]
        for frame in frames:
            answered = batch.Checker(self.cell, mode=Mode.CLEARANCE)(frame)
            np.testing.assert_array_equal(answered["clearance_lower"].to_numpy(float), expected)
            self.assertEqual((answered.index.tolist(), list(frame.columns)), (index.tolist(), ["q"]))
            empty = batch.Checker(self.cell, mode=Mode.CLEARANCE)(frame.iloc[:0])
            self.assertEqual(empty.dtypes.tolist(), answered.dtypes.tolist())
        columns = pandas.DataFrame(self.values, columns=list("abcdef"))
        answered = batch.Checker(self.cell, list("abcdef"), mode=Mode.CLEARANCE)(columns)
        np.testing.assert_array_equal(answered["clearance_lower"].to_numpy(float), expected)

    @unittest.skipUnless(has("dask", "dask.dataframe", "pandas"), "there is no Dask")
    def test_dask_tells_the_same(self):
        import dask.dataframe as frames
        import pandas
        column = pandas.arrays.ArrowExtensionArray(batch.column(self.values))
        frame = frames.from_pandas(pandas.DataFrame({"q": column}), npartitions=7)
        checker = batch.Checker(self.cell, mode=Mode.CLEARANCE, threads=1)
        answered = frame.map_partitions(checker, meta=checker(frame._meta)).compute(scheduler="processes", num_workers=2)
        expected = checker(self.rows)
        np.testing.assert_array_equal(answered["clearance_lower"].to_numpy(float), expected["clearance_lower"])
        np.testing.assert_array_equal(answered["verdict"].to_numpy(int), expected["verdict"])


class Progress(unittest.TestCase):
    def test_long_lists_show_how_far_they_are(self):
        robot = arm()
        cell = clearance.Cell(robot, boxes())
        values = robot.sample(60_000, 1)
        seen = []
        clearance.local().check(cell, values, mode=Mode.CLEARANCE, progress=lambda done, total: seen.append((done, total)))
        self.assertEqual((seen[-1], seen), ((60_000, 60_000), sorted(seen)))
        self.assertTrue(any(0 < done < 60_000 for done, _ in seen), seen)
        edges = []
        clearance.local().check_edges(cell, values[:50], values[:50] + 1e-3, progress=lambda done, total: edges.append(done))
        self.assertEqual(edges[-1], 50)

        def fails(done, total):
            raise KeyError(done)

        self.assertRaises(KeyError, clearance.local().check, cell, values, mode=Mode.CLEARANCE, progress=fails)

    def test_bars_are_written_where_errors_are(self):
        code = ("import sys; sys.modules['tqdm'] = None if {plain} else sys.modules.get('tqdm')\n"
                "{forget}from clearance._progress import Bar\n"
                "with Bar(True, 10, 'rows') as bar:\n    bar.tell(3)\n    bar.tell(9)\n")
        for plain in (True, False):
            forget = "" if plain else "sys.modules.pop('tqdm', None)\n"
            told = subprocess.run([sys.executable, "-c", code.format(plain=plain, forget=forget)], text=True, capture_output=True,
                                  check=True)
            self.assertEqual(told.stdout, "")
            self.assertIn("10 of 10 rows" if plain or not has("tqdm") else "10/10", told.stderr)


if __name__ == "__main__":
    unittest.main()
