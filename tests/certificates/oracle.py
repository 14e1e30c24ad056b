"""Whether a claim is true, by an oracle that knows neither certificates nor the code that made them: exact
least-norm points, exact linear programs, and first contacts of turning bodies to 240 bits.
"""
import sys

class Oracle:
    def __init__(self, folder):
        sys.path.insert(0, folder)
        import exact, gmpy2, screw
        self.exact, self.screw, self.mpq = exact, screw, gmpy2.mpq

    def contradicts(self, case, p, q, answer):
        """What is false in the answer's claims, or None."""
        problem = self.problem(case, p, q)
        if case["kind"] == "static":
            return self.placed(problem, answer)
        find = self.translating if case["kind"] == "linear" or case["angleP"] == 0 == case["angleQ"] else self.turning
        return find(problem, case, p, q, answer)

    def problem(self, case, p, q):
        sides = [([list(map(float, v)) for v in body], self.exact.quat_to_R(case["q" + b]), list(map(float, case["t" + b])))
                 for body, b in ((p, "P"), (q, "Q"))]
        return self.exact.Problem(*sides[0], *sides[1])

    def placed(self, problem, answer):
        found, mpq = problem.gjk(), self.mpq
        truth = "SEPARATED"
        if found["collide"]:
            problem.interior_radius_bounds()
            truth = "OVERLAPPING" if problem.touch_n is None else "TOUCHING"
        if answer["verdict"] != truth:
            return f"it is {truth}"
        unit = mpq(2) ** -problem.E
        squared = mpq(self.exact.dot(found["V"], found["V"])) / mpq(found["D"]) ** 2 * unit ** 2
        if "distance_lower" in answer:
            lower, upper = mpq(answer["distance_lower"]), mpq(answer["distance_upper"])
            if not lower ** 2 <= squared <= upper ** 2:
                return "the distance is not in the bracket"
        if "depth_lower" in answer:
            lower, upper = mpq(answer["depth_lower"]), mpq(answer["depth_upper"])
            depth = truth == "OVERLAPPING" and max(problem.P.n, problem.Q.n) <= 20 and self.exact.depth_exact(problem)
            if depth and not lower ** 2 <= depth[0] * unit ** 2 <= upper ** 2:
                return "the depth is not in the bracket"
            least, most = problem.interior_radius_bounds() if truth == "OVERLAPPING" else (0.0, 0.0)
            if not (lower <= mpq(most) and upper >= mpq(least)):
                return "the depth is not in the bracket, by bounds"
        return None

    def translating(self, problem, case, p, q, answer):
        mpq, first = self.mpq, None
        speed = tuple(mpq(float(a)) - mpq(float(b)) for a, b in zip(case["vP"], case["vQ"]))
        if problem.gjk()["collide"]:
            first = mpq(0)
        elif any(speed):
            hit = problem.ray(speed)
            first = hit["t_real"] if hit["feasible"] else None
        return self.timed(answer, first, first)

    def turning(self, problem, case, p, q, answer):
        moving = [self.screw.Moving(body, case["q" + b], list(map(float, case["t" + b])), list(map(float, case["v" + b])),
                                    case["axis" + b], case["angle" + b]) for body, b in ((p, "P"), (q, "Q"))]
        found = self.screw.toi_screw(*moving)
        if found["result"] == "initial":
            return self.timed(answer, 0, 0)
        if found["result"] == "miss":
            return self.timed(answer, None, None)
        if found["result"] == "undecided":
            return f"the oracle is undecided: {found['why']}"
        return self.timed(answer, self.mpq(found["t_lb"]), self.mpq(found["t_ub"]))

    def timed(self, answer, least, most):
        """Against a first contact in [least, most], exactly there if they are equal; None: there is none."""
        free = self.mpq(answer.get("t_free", 1.0))
        inside = least is not None and most <= 1
        if inside and answer["verdict"] == "NO_CONTACT":
            return f"there is contact at {float(most)}"
        if answer["verdict"] == "CONTACT":
            contact = self.mpq(answer["t_contact"])
            if least is None or contact < least:
                return "there is no contact by then"
            if contact == 0:
                return None
        if least is not None and (free >= most if least == most else free > most):
            return f"free until {float(free)}, but there is contact at {float(most)}"
        return None
