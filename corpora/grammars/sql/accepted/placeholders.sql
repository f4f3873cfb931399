select ?, ?2, :name, @name, $1, $name, :'quoted', :"quoted";
