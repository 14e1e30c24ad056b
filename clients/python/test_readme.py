"""README.md's examples do what it says. Run: python3 -m unittest discover -s clients/python"""
import os, re, unittest


class Readme(unittest.TestCase):
    def test_its_examples_run_one_after_the_other_and_prove_what_they_claim(self):
        with open(os.path.join(os.path.dirname(__file__), "README.md")) as readme:
            examples = re.findall(r"^```python\n(.*?)^```", readme.read(), re.M | re.S)
        self.assertEqual(len(examples), 2)
        names = {}
        for example in examples:
            exec(example, names)


if __name__ == "__main__":
    unittest.main()
